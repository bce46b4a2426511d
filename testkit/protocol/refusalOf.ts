import { translateError } from "../../src/chain/translateError.ts";

/**
 * What a contract says when it refuses a deployment or a call: its error with its values, read from the data of the
 * revert; "accepted" if it does not refuse.
 */
export const refusalOf = (done: Promise<unknown>): Promise<string> =>
  done.then(
    () => "accepted",
    (error: unknown) => translateError(error, "what was asked").message,
  );
