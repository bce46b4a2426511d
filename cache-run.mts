import { soakNodes } from "./tools/verify/soak/nodes.ts";
const [seeds, first, only] = process.argv.slice(2);
console.log(await soakNodes(Number(seeds), Number(first), only));
process.exit(0);
