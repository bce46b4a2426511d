import { errorWithCode } from "../../base/errors.ts";

/** A local market did not start, or a part ended by itself. */
export class DevnetError extends errorWithCode("DEVNET") {}
