export { Prng } from "../../src/base/prng.ts";
