// What the server says of a file, for tests that compare the page with it.

/** A question to the server, as JSON. */
export const json = async (address, path) => (await fetch(address + path)).json();

/** The map of a file: `{ pages, summary, kind(n), tree(n), of(kindName) }`. */
export async function mapOf(address, file = 0) {
  const summary = await json(address, `api/${file}/summary`);
  const bytes = Buffer.from(await (await fetch(`${address}api/${file}/map?from=1`)).arrayBuffer());
  const pages = bytes.length / 4;
  const kind = (n) => summary.kinds[bytes[pages * 2 + n - 1]].name;
  const tree = (n) => summary.trees[bytes.readUInt16LE((n - 1) * 2)]?.name;
  const all = Array.from({ length: pages }, (_, i) => i + 1);
  return {
    pages,
    summary,
    kind,
    tree,
    of: (name) => all.filter((n) => kind(n) === name),
    inTree: (name) => all.filter((n) => tree(n) === name),
  };
}
