import { expect } from "chai";
import { RefusedError } from "../../../src/parties/tickets/errors.ts";
import { rejection } from "../../../testkit/rejection.ts";

/** A refusal of a worker's endpoint with a status. */
export async function refused(action: Promise<unknown>, status: number): Promise<void> {
  const error = await rejection(action);
  expect(error, String(error)).to.be.instanceOf(RefusedError).with.property("status", status);
}
