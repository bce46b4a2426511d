/** In a page there are no files: a model that keeps tensors in other files is refused where they would be opened. */
const missing = (): never => {
  throw Object.assign(new Error("a page has no files"), { code: "ENOENT" });
};

export const [closeSync, fstatSync, openSync, readSync, realpathSync, statSync] = Array.from(
  { length: 6 },
  () => missing,
);
export const constants = {};
