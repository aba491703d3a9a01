//! A mail client's database, grown message by message.
//!
//! Mail arrives over the years in 48 folders of four accounts, some of them busy and most not, a
//! few messages at a time. In between messages are read, flagged, filed elsewhere, and deleted with
//! their bodies and attachments, most of them soon after they came. So tables and indexes of very
//! different sizes grow page by page between one another, and pages become free and are used again:
//! what a file looks like that nobody has loaded in one go.

use anyhow::{Result, bail};

use super::random::SplitMix64;
use super::{Binder, DataRow, DataTarget, Insert, Loader, ROWS_A_TICK, Written, generate};
use crate::interrupt;
use crate::sys::{Db, Stmt};

/// To be raised with every change that makes other bytes.
pub const VERSION: u32 = 1;
pub const MESSAGES: u64 = 100_000;

const SEED: u64 = 4;

const SCHEMA: [&str; 14] = [
    "CREATE TABLE account(id INTEGER PRIMARY KEY, address TEXT, name TEXT)",
    "CREATE TABLE folder(id INTEGER PRIMARY KEY, account INTEGER, name TEXT)",
    "CREATE TABLE message(
  id INTEGER PRIMARY KEY, account INTEGER, folder INTEGER, uid INTEGER, thread INTEGER,
  message_id TEXT, subject TEXT, sender_name TEXT, sender TEXT, recipients TEXT, sent INTEGER,
  received INTEGER, flags INTEGER, size INTEGER, attachments INTEGER, snippet TEXT
)",
    "CREATE INDEX message_folder ON message(folder, received)",
    "CREATE INDEX message_uid ON message(folder, uid)",
    "CREATE INDEX message_thread ON message(thread)",
    "CREATE INDEX message_message_id ON message(message_id)",
    "CREATE INDEX message_sender ON message(sender)",
    "CREATE INDEX message_account ON message(account, sent)",
    "CREATE TABLE reply(message INTEGER PRIMARY KEY, message_id TEXT)",
    "CREATE INDEX reply_message_id ON reply(message_id)",
    "CREATE TABLE body(message INTEGER PRIMARY KEY, text TEXT)",
    "CREATE TABLE attachment(id INTEGER PRIMARY KEY, message INTEGER, name TEXT, type TEXT, size INTEGER, data BLOB)",
    "CREATE INDEX attachment_message ON attachment(message)",
];
const TABLES: usize = 6;

const ACCOUNTS: [&str; 4] = ["work", "home", "lists", "old"];
const FOLDERS: [&str; 12] = [
    "Inbox",
    "Sent",
    "Archive",
    "Drafts",
    "Trash",
    "Junk",
    "Invoices",
    "Travel",
    "Family",
    "Projects",
    "Newsletters",
    "Receipts",
];
const TYPES: [&str; 5] = [
    "application/pdf",
    "image/jpeg",
    "image/png",
    "text/calendar",
    "application/zip",
];
/// Flags of a message.
const SEEN: i64 = 1;
const ANSWERED: i64 = 2;
const FLAGGED: i64 = 4;
/// The first of January 2015, and eleven years.
const START: i64 = 1_420_070_400;
const SPAN: i64 = 11 * 365 * 86_400;
/// How many words and people there are.
const WORDS: usize = 4000;
const PEOPLE: usize = 1500;
/// An answer is to one of so many last messages.
const RECENT: usize = 3000;

/// Writes the database of `messages` messages, of which some are deleted again.
pub fn write(messages: u64, target: &DataTarget<'_>) -> Result<Written> {
    if messages == 0 {
        bail!("there must be at least one message");
    }
    generate(target, messages, |to| {
        for sql in SCHEMA {
            to.db.exec(sql)?;
        }
        to.tables = TABLES;
        let Loader { db, bar, rows, .. } = to;
        let mut mailbox = Mailbox::new(db, messages)?;
        bar.set_message("message");
        let mut last = 0;
        while mailbox.arrived < messages {
            mailbox.batch()?;
            if mailbox.arrived - last >= ROWS_A_TICK / 16 {
                last = mailbox.arrived;
                interrupt::check()?;
                bar.set_position(last);
            }
        }
        *rows = mailbox.rows;
        Ok(())
    })
}

/// A message that is there.
#[derive(Clone, Copy)]
struct Live {
    id: u64,
    thread: u64,
    /// What makes its message id another one than all others.
    salt: u64,
}

struct Mailbox<'d> {
    random: SplitMix64,
    messages: u64,
    words: Vec<String>,
    people: Vec<(String, String)>,
    /// Chances of the folders, added up.
    chances: Vec<f64>,
    live: Vec<Live>,
    arrived: u64,
    /// The last number that the server gave to a message or to a copy of one.
    uid: u64,
    rows: u64,
    message: Insert<'d>,
    body: Insert<'d>,
    reply: Insert<'d>,
    attachment: Insert<'d>,
    flag: Stmt<'d>,
    file: Stmt<'d>,
    delete: Vec<Stmt<'d>>,
}

impl<'d> Mailbox<'d> {
    fn new(db: &'d Db<'_>, messages: u64) -> Result<Self> {
        let mut random = SplitMix64(SEED);
        let mut words: Vec<String> = (0..WORDS).map(|_| word(&mut random)).collect();
        // Words that are asked for: a common one and a rare one.
        words[7] = "meeting".to_owned();
        words[400] = "invoice".to_owned();
        let people = (0..PEOPLE)
            .map(|_| {
                let [first, last, host] =
                    [(); 3].map(|()| words[random.below(WORDS as u64) as usize].as_str());
                let name = format!("{} {}", capital(first), capital(last));
                (name, format!("{first}.{last}@{host}.example"))
            })
            .collect();
        let count = ACCOUNTS.len() * FOLDERS.len();
        let mut weights = vec![1.0; count];
        // The first inbox is the busiest; a folder has fewer than the one before it in a random
        // order of them.
        let mut order: Vec<usize> = (1..count).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i as u64 + 1) as usize);
        }
        for (place, folder) in order.into_iter().enumerate() {
            weights[folder] = 1.0 / (place + 2) as f64;
        }
        let mut sum = 0.0;
        let chances = weights.iter().map(|w| {
            sum += w;
            sum
        });
        let chances = chances.collect();
        let statement =
            |sql: &str| -> Result<Stmt<'d>> { Ok(db.prepare(sql)?.expect("there is a statement")) };
        let mut new = Mailbox {
            chances,
            random,
            messages,
            words,
            people,
            live: Vec::new(),
            arrived: 0,
            uid: 0,
            rows: 0,
            message: Insert::new(db, "message")?,
            body: Insert::new(db, "body")?,
            reply: Insert::new(db, "reply")?,
            attachment: Insert::new(db, "attachment")?,
            flag: statement("UPDATE message SET flags=flags|?1 WHERE id=?2")?,
            file: statement("UPDATE message SET folder=?1, account=?2, uid=?3 WHERE id=?4")?,
            delete: [
                "DELETE FROM message WHERE id=?1",
                "DELETE FROM body WHERE message=?1",
                "DELETE FROM attachment WHERE message=?1",
                "DELETE FROM reply WHERE message=?1",
            ]
            .into_iter()
            .map(statement)
            .collect::<Result<_>>()?,
        };
        let (mut account, mut folder) = (Insert::new(db, "account")?, Insert::new(db, "folder")?);
        for (id, name) in (1..).zip(ACCOUNTS) {
            account.row(&Account { id, name })?;
        }
        for id in 1..=count as u64 {
            folder.row(&Folder { id })?;
        }
        new.rows += (ACCOUNTS.len() + count) as u64;
        Ok(new)
    }

    /// A number from 0 to 1, to the power of `power`: small ones more often.
    fn share(&mut self, power: u32) -> f64 {
        let x = (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64;
        (1..power).fold(x, |y, _| y * x)
    }

    /// A number below `n`, small ones more often.
    fn low(&mut self, n: usize, power: u32) -> usize {
        (n as f64 * self.share(power)) as usize
    }

    fn text(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 8);
        for i in 0..words {
            if i > 0 {
                text.push(' ');
            }
            let word = self.low(WORDS, 2);
            text.push_str(&self.words[word]);
        }
        text
    }

    /// A folder, busy ones more often, counted from 1.
    fn folder(&mut self) -> u64 {
        let at = self.share(1) * self.chances[self.chances.len() - 1];
        let below = self.chances.partition_point(|c| *c <= at);
        below.min(self.chances.len() - 1) as u64 + 1
    }

    /// A few messages arrive in a folder; then some are changed.
    fn batch(&mut self) -> Result<()> {
        let folder = self.folder();
        let batch = (1 + self.low(12, 3) as u64).min(self.messages - self.arrived);
        let when =
            START + (SPAN as i128 * i128::from(self.arrived) / i128::from(self.messages)) as i64;
        for i in 0..batch {
            self.arrive(folder, when + i as i64)?;
        }
        for _ in 0..self.random.below(3) {
            for _ in 0..1 + self.random.below(3) {
                self.change()?;
            }
        }
        Ok(())
    }

    fn arrive(&mut self, folder: u64, received: i64) -> Result<()> {
        self.uid += 1;
        self.arrived += 1;
        let id = self.arrived;
        let salt = self.random.bits() >> 16;
        let parent = match self.share(1) < 0.45 && !self.live.is_empty() {
            true => {
                let among = self.live.len().min(RECENT);
                let back = 1 + self.random.below(among as u64) as usize;
                Some(self.live[self.live.len() - back])
            }
            false => None,
        };
        let thread = parent.map_or(id, |p| p.thread);
        let sender = self.low(PEOPLE, 3);
        let mut recipients = String::new();
        for i in 0..1 + self.low(3, 3) {
            if i > 0 {
                recipients.push_str(", ");
            }
            let person = self.random.below(PEOPLE as u64) as usize;
            recipients.push_str(&self.people[person].1);
        }
        let words = 30 + self.low(2000, 4);
        let text = self.text(words);
        let words = 2 + self.random.below(8) as usize;
        let subject = self.text(words);
        let files = match self.share(1) < 0.06 {
            true => 1 + self.low(3, 2),
            false => 0,
        };
        let sizes: Vec<usize> = (0..files).map(|_| 400 + self.low(60_000, 2)).collect();
        let unread = received > START + SPAN / 100 * 97 || self.share(1) < 0.06;
        let size = text.len() + sizes.iter().sum::<usize>() * 4 / 3 + 900;
        let sent = received - self.random.below(600) as i64;
        let (name, address) = &self.people[sender];
        self.message.row(&Message {
            id,
            account: account_of(folder),
            folder,
            uid: self.uid,
            thread,
            salt,
            subject: match parent {
                Some(_) => format!("Re: {subject}"),
                None => subject,
            },
            name,
            address,
            recipients,
            sent,
            received,
            flags: if unread { 0 } else { SEEN },
            size,
            files,
            snippet: text.get(..140).unwrap_or(&text),
        })?;
        self.body.row(&Body {
            message: id,
            text: &text,
        })?;
        self.rows += 2;
        if let Some(parent) = parent {
            self.reply.row(&MailReply {
                message: id,
                to: (parent.id, parent.salt),
            })?;
            self.rows += 1;
        }
        for size in sizes {
            let data: Vec<u8> = (0..size.div_ceil(8))
                .flat_map(|_| self.random.bits().to_le_bytes())
                .take(size)
                .collect();
            let name = self.text(1) + ".bin";
            let kind = TYPES[self.random.below(TYPES.len() as u64) as usize];
            self.attachment.row(&Attachment {
                message: id,
                name,
                kind,
                data,
            })?;
            self.rows += 1;
        }
        self.live.push(Live { id, thread, salt });
        Ok(())
    }

    /// What a user and the server do to mail that is there, most often to one of the last.
    fn change(&mut self) -> Result<()> {
        if self.live.is_empty() {
            return Ok(());
        }
        let what = self.share(1);
        let back = self.low(self.live.len(), 6);
        let at = self.live.len() - 1 - back;
        let id = self.live[at].id as i64;
        if what < 0.5 {
            let flags = [SEEN, SEEN, SEEN, ANSWERED, FLAGGED];
            let flag = flags[self.random.below(flags.len() as u64) as usize];
            execute(&mut self.flag, &[flag, id])
        } else if what < 0.75 {
            let folder = self.folder();
            // A copy in another folder has another number there.
            self.uid += 1;
            let values = [folder, account_of(folder), self.uid].map(|n| n as i64);
            execute(&mut self.file, &[values[0], values[1], values[2], id])
        } else {
            for statement in &mut self.delete {
                execute(statement, &[id])?;
            }
            self.live.swap_remove(at);
            Ok(())
        }
    }
}

fn execute(statement: &mut Stmt<'_>, values: &[i64]) -> Result<()> {
    for (i, value) in (1..).zip(values) {
        statement.bind_int(i, *value)?;
    }
    statement.step()?;
    statement.reset();
    Ok(())
}

fn account_of(folder: u64) -> u64 {
    (folder - 1) / FOLDERS.len() as u64 + 1
}

fn word(random: &mut SplitMix64) -> String {
    let length = 2 + random.below(9);
    (0..length)
        .map(|_| char::from(b'a' + random.below(26) as u8))
        .collect()
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

struct Account {
    id: u64,
    name: &'static str,
}

impl DataRow for Account {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.id as i64);
        to.shown(&format_args!("me@{}.example", self.name));
        to.text(self.name);
    }
}

struct Folder {
    id: u64,
}

impl DataRow for Folder {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.id as i64);
        to.int(account_of(self.id) as i64);
        to.text(FOLDERS[(self.id - 1) as usize % FOLDERS.len()]);
    }
}

struct Message<'m> {
    id: u64,
    account: u64,
    folder: u64,
    uid: u64,
    thread: u64,
    salt: u64,
    subject: String,
    name: &'m str,
    address: &'m str,
    recipients: String,
    sent: i64,
    received: i64,
    flags: i64,
    size: usize,
    files: usize,
    snippet: &'m str,
}

impl DataRow for Message<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        for n in [self.id, self.account, self.folder, self.uid, self.thread] {
            to.int(n as i64);
        }
        to.shown(&message_id(self.id, self.salt));
        to.text(&self.subject);
        to.text(self.name);
        to.text(self.address);
        to.text(&self.recipients);
        for n in [self.sent, self.received, self.flags] {
            to.int(n);
        }
        to.int(self.size as i64);
        to.int(self.files as i64);
        to.text(self.snippet);
    }
}

fn message_id(id: u64, salt: u64) -> String {
    format!("<{id}.{salt:x}@mail.example>")
}

struct Body<'m> {
    message: u64,
    text: &'m str,
}

impl DataRow for Body<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.message as i64);
        to.text(self.text);
    }
}

struct MailReply {
    message: u64,
    /// The number and the salt of what it is an answer to.
    to: (u64, u64),
}

impl DataRow for MailReply {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.message as i64);
        to.shown(&message_id(self.to.0, self.to.1));
    }
}

struct Attachment {
    message: u64,
    name: String,
    kind: &'static str,
    data: Vec<u8>,
}

impl DataRow for Attachment {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        // SQLite gives it the next number.
        to.null();
        to.int(self.message as i64);
        to.text(&self.name);
        to.text(self.kind);
        to.int(self.data.len() as i64);
        to.blob(&self.data);
    }
}
