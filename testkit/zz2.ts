import { endingOf } from "./fuzz/hostile.ts";
import { restructuredModel } from "./fuzz/structure.ts";
for (const seed of process.argv.slice(2).map(Number)) { const t = performance.now(); const e = endingOf(restructuredModel(seed), { seconds: 5, mib: 64, nodes: 2000, foldElements: 2 ** 20 }); console.log(seed, e, ((performance.now() - t) / 1000).toFixed(2)); }
