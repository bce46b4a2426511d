export { Prng } from "../../src/prng.ts";
