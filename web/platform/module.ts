/** In a page no package is loaded at run time: what would need one is not asked for it. */
const missing = (): never => {
  throw Object.assign(new Error("a page loads no packages"), { code: "MODULE_NOT_FOUND" });
};

export const [createRequire, findPackageJSON] = [missing, missing];
