import { errorWithCode } from "../../base/errors.ts";

/** A local market that does not start, or of which a part ended by itself. */
export class DevnetError extends errorWithCode("DEVNET") {}
