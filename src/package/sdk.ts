/** `refute/sdk`: what requesters of results need, in Node. */
export * from "./requester.ts";
export { loadProgram, type LoadOptions } from "../parties/requester/loadProgram.ts";
export { readAddressFile } from "../chain/market/readAddressFile.ts";
