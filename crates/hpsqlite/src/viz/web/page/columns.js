/** What the columns of a b-tree are called: asked once for each b-tree of each file. */

const known = new WeakMap();

/** Promise of a b-tree's columns in the order of its records; an empty list where they are not known. */
export function columnsOf(app, file, tree) {
  if (tree === null || tree === undefined) return Promise.resolve([]);
  if (!known.has(app)) {
    const asked = new Map();
    known.set(app, asked);
    app.on("summary", () => asked.clear());
  }
  const asked = known.get(app);
  const key = `${file}/${tree}`;
  if (!asked.has(key)) {
    const nothing = () => [];
    asked.set(
      key,
      app.source.tree(file, tree).then((facts) => facts.columns ?? [], nothing),
    );
  }
  return asked.get(key);
}
