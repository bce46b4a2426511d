// Imports a package, and prints the milliseconds that the import takes and the number of loaded modules of refute-ml.
import { registerHooks } from "node:module";
const modules = [];
registerHooks({ load: (url, context, next) => (modules.push(url), next(url, context)) });
const before = performance.now();
await import(process.argv[2]);
const milliseconds = performance.now() - before;
console.log(
  JSON.stringify({ milliseconds, modules: modules.filter((url) => url.includes("/refute-ml/dist/")).length }),
);
