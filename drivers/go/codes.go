package hpsqlite

// A Code is one of SQLite's result codes, extended ones included. It is an
// error, so that errors.Is(err, hpsqlite.ErrConstraint) and
// errors.Is(err, hpsqlite.ErrConstraintUnique) both say what they seem to.
type Code int

// Result codes (https://sqlite.org/rescode.html).
const (
	codeOK                   Code = 0    // SQLITE_OK
	ErrError                 Code = 1    // SQLITE_ERROR
	ErrErrorMissingCollSeq   Code = 257  // SQLITE_ERROR_MISSING_COLLSEQ
	ErrErrorRetry            Code = 513  // SQLITE_ERROR_RETRY
	ErrErrorSnapshot         Code = 769  // SQLITE_ERROR_SNAPSHOT
	ErrErrorReserveSize      Code = 1025 // SQLITE_ERROR_RESERVESIZE
	ErrErrorKey              Code = 1281 // SQLITE_ERROR_KEY
	ErrErrorUnable           Code = 1537 // SQLITE_ERROR_UNABLE
	ErrInternal              Code = 2    // SQLITE_INTERNAL
	ErrPerm                  Code = 3    // SQLITE_PERM
	ErrAbort                 Code = 4    // SQLITE_ABORT
	ErrAbortRollback         Code = 516  // SQLITE_ABORT_ROLLBACK
	ErrBusy                  Code = 5    // SQLITE_BUSY
	ErrBusyRecovery          Code = 261  // SQLITE_BUSY_RECOVERY
	ErrBusySnapshot          Code = 517  // SQLITE_BUSY_SNAPSHOT
	ErrBusyTimeout           Code = 773  // SQLITE_BUSY_TIMEOUT
	ErrLocked                Code = 6    // SQLITE_LOCKED
	ErrLockedSharedCache     Code = 262  // SQLITE_LOCKED_SHAREDCACHE
	ErrLockedVtab            Code = 518  // SQLITE_LOCKED_VTAB
	ErrNoMem                 Code = 7    // SQLITE_NOMEM
	ErrReadOnly              Code = 8    // SQLITE_READONLY
	ErrReadOnlyRecovery      Code = 264  // SQLITE_READONLY_RECOVERY
	ErrReadOnlyCantLock      Code = 520  // SQLITE_READONLY_CANTLOCK
	ErrReadOnlyRollback      Code = 776  // SQLITE_READONLY_ROLLBACK
	ErrReadOnlyDBMoved       Code = 1032 // SQLITE_READONLY_DBMOVED
	ErrReadOnlyCantInit      Code = 1288 // SQLITE_READONLY_CANTINIT
	ErrReadOnlyDirectory     Code = 1544 // SQLITE_READONLY_DIRECTORY
	ErrInterrupt             Code = 9    // SQLITE_INTERRUPT
	ErrIO                    Code = 10   // SQLITE_IOERR
	ErrIORead                Code = 266  // SQLITE_IOERR_READ
	ErrIOShortRead           Code = 522  // SQLITE_IOERR_SHORT_READ
	ErrIOWrite               Code = 778  // SQLITE_IOERR_WRITE
	ErrIOFsync               Code = 1034 // SQLITE_IOERR_FSYNC
	ErrIODirFsync            Code = 1290 // SQLITE_IOERR_DIR_FSYNC
	ErrIOTruncate            Code = 1546 // SQLITE_IOERR_TRUNCATE
	ErrIOFstat               Code = 1802 // SQLITE_IOERR_FSTAT
	ErrIOUnlock              Code = 2058 // SQLITE_IOERR_UNLOCK
	ErrIORdLock              Code = 2314 // SQLITE_IOERR_RDLOCK
	ErrIODelete              Code = 2570 // SQLITE_IOERR_DELETE
	ErrIOBlocked             Code = 2826 // SQLITE_IOERR_BLOCKED
	ErrIONoMem               Code = 3082 // SQLITE_IOERR_NOMEM
	ErrIOAccess              Code = 3338 // SQLITE_IOERR_ACCESS
	ErrIOCheckReservedLock   Code = 3594 // SQLITE_IOERR_CHECKRESERVEDLOCK
	ErrIOLock                Code = 3850 // SQLITE_IOERR_LOCK
	ErrIOClose               Code = 4106 // SQLITE_IOERR_CLOSE
	ErrIODirClose            Code = 4362 // SQLITE_IOERR_DIR_CLOSE
	ErrIOShmOpen             Code = 4618 // SQLITE_IOERR_SHMOPEN
	ErrIOShmSize             Code = 4874 // SQLITE_IOERR_SHMSIZE
	ErrIOShmLock             Code = 5130 // SQLITE_IOERR_SHMLOCK
	ErrIOShmMap              Code = 5386 // SQLITE_IOERR_SHMMAP
	ErrIOSeek                Code = 5642 // SQLITE_IOERR_SEEK
	ErrIODeleteNoEnt         Code = 5898 // SQLITE_IOERR_DELETE_NOENT
	ErrIOMmap                Code = 6154 // SQLITE_IOERR_MMAP
	ErrIOGetTempPath         Code = 6410 // SQLITE_IOERR_GETTEMPPATH
	ErrIOConvPath            Code = 6666 // SQLITE_IOERR_CONVPATH
	ErrIOVnode               Code = 6922 // SQLITE_IOERR_VNODE
	ErrIOAuth                Code = 7178 // SQLITE_IOERR_AUTH
	ErrIOBeginAtomic         Code = 7434 // SQLITE_IOERR_BEGIN_ATOMIC
	ErrIOCommitAtomic        Code = 7690 // SQLITE_IOERR_COMMIT_ATOMIC
	ErrIORollbackAtomic      Code = 7946 // SQLITE_IOERR_ROLLBACK_ATOMIC
	ErrIOData                Code = 8202 // SQLITE_IOERR_DATA
	ErrIOCorruptFS           Code = 8458 // SQLITE_IOERR_CORRUPTFS
	ErrIOInPage              Code = 8714 // SQLITE_IOERR_IN_PAGE
	ErrIOBadKey              Code = 8970 // SQLITE_IOERR_BADKEY
	ErrIOCodec               Code = 9226 // SQLITE_IOERR_CODEC
	ErrCorrupt               Code = 11   // SQLITE_CORRUPT
	ErrCorruptVtab           Code = 267  // SQLITE_CORRUPT_VTAB
	ErrCorruptSequence       Code = 523  // SQLITE_CORRUPT_SEQUENCE
	ErrCorruptIndex          Code = 779  // SQLITE_CORRUPT_INDEX
	ErrNotFound              Code = 12   // SQLITE_NOTFOUND
	ErrFull                  Code = 13   // SQLITE_FULL
	ErrCantOpen              Code = 14   // SQLITE_CANTOPEN
	ErrCantOpenNoTempDir     Code = 270  // SQLITE_CANTOPEN_NOTEMPDIR
	ErrCantOpenIsDir         Code = 526  // SQLITE_CANTOPEN_ISDIR
	ErrCantOpenFullPath      Code = 782  // SQLITE_CANTOPEN_FULLPATH
	ErrCantOpenConvPath      Code = 1038 // SQLITE_CANTOPEN_CONVPATH
	ErrCantOpenDirtyWAL      Code = 1294 // SQLITE_CANTOPEN_DIRTYWAL
	ErrCantOpenSymlink       Code = 1550 // SQLITE_CANTOPEN_SYMLINK
	ErrProtocol              Code = 15   // SQLITE_PROTOCOL
	ErrEmpty                 Code = 16   // SQLITE_EMPTY
	ErrSchema                Code = 17   // SQLITE_SCHEMA
	ErrTooBig                Code = 18   // SQLITE_TOOBIG
	ErrConstraint            Code = 19   // SQLITE_CONSTRAINT
	ErrConstraintCheck       Code = 275  // SQLITE_CONSTRAINT_CHECK
	ErrConstraintCommitHook  Code = 531  // SQLITE_CONSTRAINT_COMMITHOOK
	ErrConstraintForeignKey  Code = 787  // SQLITE_CONSTRAINT_FOREIGNKEY
	ErrConstraintFunction    Code = 1043 // SQLITE_CONSTRAINT_FUNCTION
	ErrConstraintNotNull     Code = 1299 // SQLITE_CONSTRAINT_NOTNULL
	ErrConstraintPrimaryKey  Code = 1555 // SQLITE_CONSTRAINT_PRIMARYKEY
	ErrConstraintTrigger     Code = 1811 // SQLITE_CONSTRAINT_TRIGGER
	ErrConstraintUnique      Code = 2067 // SQLITE_CONSTRAINT_UNIQUE
	ErrConstraintVtab        Code = 2323 // SQLITE_CONSTRAINT_VTAB
	ErrConstraintRowID       Code = 2579 // SQLITE_CONSTRAINT_ROWID
	ErrConstraintPinned      Code = 2835 // SQLITE_CONSTRAINT_PINNED
	ErrConstraintDataType    Code = 3091 // SQLITE_CONSTRAINT_DATATYPE
	ErrMismatch              Code = 20   // SQLITE_MISMATCH
	ErrMisuse                Code = 21   // SQLITE_MISUSE
	ErrNoLFS                 Code = 22   // SQLITE_NOLFS
	ErrAuth                  Code = 23   // SQLITE_AUTH
	ErrAuthUser              Code = 279  // SQLITE_AUTH_USER
	ErrFormat                Code = 24   // SQLITE_FORMAT
	ErrRange                 Code = 25   // SQLITE_RANGE
	ErrNotADB                Code = 26   // SQLITE_NOTADB
	ErrNotice                Code = 27   // SQLITE_NOTICE
	ErrNoticeRecoverWAL      Code = 283  // SQLITE_NOTICE_RECOVER_WAL
	ErrNoticeRecoverRollback Code = 539  // SQLITE_NOTICE_RECOVER_ROLLBACK
	ErrNoticeRBU             Code = 795  // SQLITE_NOTICE_RBU
	ErrWarning               Code = 28   // SQLITE_WARNING
	ErrWarningAutoIndex      Code = 284  // SQLITE_WARNING_AUTOINDEX
	codeRow                  Code = 100  // SQLITE_ROW
	codeDone                 Code = 101  // SQLITE_DONE
)

var codeNames = map[Code]string{
	codeOK:                   "SQLITE_OK",
	ErrError:                 "SQLITE_ERROR",
	ErrErrorMissingCollSeq:   "SQLITE_ERROR_MISSING_COLLSEQ",
	ErrErrorRetry:            "SQLITE_ERROR_RETRY",
	ErrErrorSnapshot:         "SQLITE_ERROR_SNAPSHOT",
	ErrErrorReserveSize:      "SQLITE_ERROR_RESERVESIZE",
	ErrErrorKey:              "SQLITE_ERROR_KEY",
	ErrErrorUnable:           "SQLITE_ERROR_UNABLE",
	ErrInternal:              "SQLITE_INTERNAL",
	ErrPerm:                  "SQLITE_PERM",
	ErrAbort:                 "SQLITE_ABORT",
	ErrAbortRollback:         "SQLITE_ABORT_ROLLBACK",
	ErrBusy:                  "SQLITE_BUSY",
	ErrBusyRecovery:          "SQLITE_BUSY_RECOVERY",
	ErrBusySnapshot:          "SQLITE_BUSY_SNAPSHOT",
	ErrBusyTimeout:           "SQLITE_BUSY_TIMEOUT",
	ErrLocked:                "SQLITE_LOCKED",
	ErrLockedSharedCache:     "SQLITE_LOCKED_SHAREDCACHE",
	ErrLockedVtab:            "SQLITE_LOCKED_VTAB",
	ErrNoMem:                 "SQLITE_NOMEM",
	ErrReadOnly:              "SQLITE_READONLY",
	ErrReadOnlyRecovery:      "SQLITE_READONLY_RECOVERY",
	ErrReadOnlyCantLock:      "SQLITE_READONLY_CANTLOCK",
	ErrReadOnlyRollback:      "SQLITE_READONLY_ROLLBACK",
	ErrReadOnlyDBMoved:       "SQLITE_READONLY_DBMOVED",
	ErrReadOnlyCantInit:      "SQLITE_READONLY_CANTINIT",
	ErrReadOnlyDirectory:     "SQLITE_READONLY_DIRECTORY",
	ErrInterrupt:             "SQLITE_INTERRUPT",
	ErrIO:                    "SQLITE_IOERR",
	ErrIORead:                "SQLITE_IOERR_READ",
	ErrIOShortRead:           "SQLITE_IOERR_SHORT_READ",
	ErrIOWrite:               "SQLITE_IOERR_WRITE",
	ErrIOFsync:               "SQLITE_IOERR_FSYNC",
	ErrIODirFsync:            "SQLITE_IOERR_DIR_FSYNC",
	ErrIOTruncate:            "SQLITE_IOERR_TRUNCATE",
	ErrIOFstat:               "SQLITE_IOERR_FSTAT",
	ErrIOUnlock:              "SQLITE_IOERR_UNLOCK",
	ErrIORdLock:              "SQLITE_IOERR_RDLOCK",
	ErrIODelete:              "SQLITE_IOERR_DELETE",
	ErrIOBlocked:             "SQLITE_IOERR_BLOCKED",
	ErrIONoMem:               "SQLITE_IOERR_NOMEM",
	ErrIOAccess:              "SQLITE_IOERR_ACCESS",
	ErrIOCheckReservedLock:   "SQLITE_IOERR_CHECKRESERVEDLOCK",
	ErrIOLock:                "SQLITE_IOERR_LOCK",
	ErrIOClose:               "SQLITE_IOERR_CLOSE",
	ErrIODirClose:            "SQLITE_IOERR_DIR_CLOSE",
	ErrIOShmOpen:             "SQLITE_IOERR_SHMOPEN",
	ErrIOShmSize:             "SQLITE_IOERR_SHMSIZE",
	ErrIOShmLock:             "SQLITE_IOERR_SHMLOCK",
	ErrIOShmMap:              "SQLITE_IOERR_SHMMAP",
	ErrIOSeek:                "SQLITE_IOERR_SEEK",
	ErrIODeleteNoEnt:         "SQLITE_IOERR_DELETE_NOENT",
	ErrIOMmap:                "SQLITE_IOERR_MMAP",
	ErrIOGetTempPath:         "SQLITE_IOERR_GETTEMPPATH",
	ErrIOConvPath:            "SQLITE_IOERR_CONVPATH",
	ErrIOVnode:               "SQLITE_IOERR_VNODE",
	ErrIOAuth:                "SQLITE_IOERR_AUTH",
	ErrIOBeginAtomic:         "SQLITE_IOERR_BEGIN_ATOMIC",
	ErrIOCommitAtomic:        "SQLITE_IOERR_COMMIT_ATOMIC",
	ErrIORollbackAtomic:      "SQLITE_IOERR_ROLLBACK_ATOMIC",
	ErrIOData:                "SQLITE_IOERR_DATA",
	ErrIOCorruptFS:           "SQLITE_IOERR_CORRUPTFS",
	ErrIOInPage:              "SQLITE_IOERR_IN_PAGE",
	ErrIOBadKey:              "SQLITE_IOERR_BADKEY",
	ErrIOCodec:               "SQLITE_IOERR_CODEC",
	ErrCorrupt:               "SQLITE_CORRUPT",
	ErrCorruptVtab:           "SQLITE_CORRUPT_VTAB",
	ErrCorruptSequence:       "SQLITE_CORRUPT_SEQUENCE",
	ErrCorruptIndex:          "SQLITE_CORRUPT_INDEX",
	ErrNotFound:              "SQLITE_NOTFOUND",
	ErrFull:                  "SQLITE_FULL",
	ErrCantOpen:              "SQLITE_CANTOPEN",
	ErrCantOpenNoTempDir:     "SQLITE_CANTOPEN_NOTEMPDIR",
	ErrCantOpenIsDir:         "SQLITE_CANTOPEN_ISDIR",
	ErrCantOpenFullPath:      "SQLITE_CANTOPEN_FULLPATH",
	ErrCantOpenConvPath:      "SQLITE_CANTOPEN_CONVPATH",
	ErrCantOpenDirtyWAL:      "SQLITE_CANTOPEN_DIRTYWAL",
	ErrCantOpenSymlink:       "SQLITE_CANTOPEN_SYMLINK",
	ErrProtocol:              "SQLITE_PROTOCOL",
	ErrEmpty:                 "SQLITE_EMPTY",
	ErrSchema:                "SQLITE_SCHEMA",
	ErrTooBig:                "SQLITE_TOOBIG",
	ErrConstraint:            "SQLITE_CONSTRAINT",
	ErrConstraintCheck:       "SQLITE_CONSTRAINT_CHECK",
	ErrConstraintCommitHook:  "SQLITE_CONSTRAINT_COMMITHOOK",
	ErrConstraintForeignKey:  "SQLITE_CONSTRAINT_FOREIGNKEY",
	ErrConstraintFunction:    "SQLITE_CONSTRAINT_FUNCTION",
	ErrConstraintNotNull:     "SQLITE_CONSTRAINT_NOTNULL",
	ErrConstraintPrimaryKey:  "SQLITE_CONSTRAINT_PRIMARYKEY",
	ErrConstraintTrigger:     "SQLITE_CONSTRAINT_TRIGGER",
	ErrConstraintUnique:      "SQLITE_CONSTRAINT_UNIQUE",
	ErrConstraintVtab:        "SQLITE_CONSTRAINT_VTAB",
	ErrConstraintRowID:       "SQLITE_CONSTRAINT_ROWID",
	ErrConstraintPinned:      "SQLITE_CONSTRAINT_PINNED",
	ErrConstraintDataType:    "SQLITE_CONSTRAINT_DATATYPE",
	ErrMismatch:              "SQLITE_MISMATCH",
	ErrMisuse:                "SQLITE_MISUSE",
	ErrNoLFS:                 "SQLITE_NOLFS",
	ErrAuth:                  "SQLITE_AUTH",
	ErrAuthUser:              "SQLITE_AUTH_USER",
	ErrFormat:                "SQLITE_FORMAT",
	ErrRange:                 "SQLITE_RANGE",
	ErrNotADB:                "SQLITE_NOTADB",
	ErrNotice:                "SQLITE_NOTICE",
	ErrNoticeRecoverWAL:      "SQLITE_NOTICE_RECOVER_WAL",
	ErrNoticeRecoverRollback: "SQLITE_NOTICE_RECOVER_ROLLBACK",
	ErrNoticeRBU:             "SQLITE_NOTICE_RBU",
	ErrWarning:               "SQLITE_WARNING",
	ErrWarningAutoIndex:      "SQLITE_WARNING_AUTOINDEX",
	codeRow:                  "SQLITE_ROW",
	codeDone:                 "SQLITE_DONE",
}
