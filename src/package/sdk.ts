/** `refute-ml/sdk`: what requesters of results need, in Node. */
export * from "./requester.ts";
export { loadProgram } from "../parties/requester/loadProgram.ts";
export { readAddressFile } from "../chain/market/readAddressFile.ts";
export type { LoadOptions } from "../parties/requester/describeModel.ts";
