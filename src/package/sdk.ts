/** `refute/sdk`: what requesters of results need, in Node. */
export * from "./requester.ts";
export { loadProgram, type LoadOptions } from "../sdk/loadProgram.ts";
export { readAddressFile } from "../sdk/readAddressFile.ts";
