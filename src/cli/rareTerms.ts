import { keccak256, stringToHex, type Address, type Hex } from "viem";
import type { RareTerms } from "../parties/requester/postJob.ts";
import { amountAboveZero, amountText } from "./amount.ts";
import { UsageError } from "./errors.ts";
import { address, bytes32, unfit, whole, type Parse } from "./parse.ts";
import { inGroup, optional, toggle, type SettingValues } from "./settings.ts";

/** A contract that says who holds classes, and the class: `0xCONTRACT:NUMBER`. */
const classOf: Parse<{ classes: Address; class: number }> = (text, name) => {
  const parts = text.split(":");
  if (parts.length !== 2)
    throw unfit(text, name, "a contract's address and the number of a class, with a colon between");
  return { classes: address(parts[0]!, name), class: whole(0, 255)(parts[1]!, name) };
};

/** Rarely used terms of a job, as flags. */
export const rareSettings = inGroup("terms", {
  collateral: optional<bigint>("amount", "that a claim locks, above the deployment's least", amountAboveZero),
  reservedFor: optional<Address>("worker", "the only worker that may claim the job", address),
  group: optional<string>("name", "of your jobs of one group a worker takes one", (text) => text),
  spread: optional<number>("blocks", "within which workers have their turns", whole(0, 255)),
  earlyAccept: toggle("you may accept a claim in its window; such a claim never becomes final"),
  stakedSince: optional<number>("time", "unix time since when the worker must have stake", whole(1, 2 ** 40 - 1)),
  maxRefuted: optional<number>("n", "claims of the worker that were refuted, at most", whole(0, 65_535)),
  maxLate: optional<number>("n", "deadlines that the worker missed, at most", whole(0, 65_535)),
  manufacturer: optional<Hex>("id", "of the worker's device", bytes32),
  proofKey: optional<Hex>("hash", "of a key: a proof under it ends a claim at once (docs/proofs.md)", bytes32),
  class: optional<{ classes: Address; class: number }>("contract:class", "that the worker must hold", classOf),
});

/**
 * The terms that the flags ask for.
 * @param min The deployment's collateral.
 * @returns undefined if they ask for nothing.
 */
export function rareTerms(values: Partial<SettingValues<typeof rareSettings>>, min: bigint): RareTerms | undefined {
  if (values.collateral !== undefined && values.collateral < min)
    throw new UsageError(
      `--collateral ${amountText(values.collateral)} is below ${amountText(min)}, what each claim of this deployment ` +
        "locks: leave the flag out, or ask for more",
    );
  const { collateral, reservedFor, group, spread, earlyAccept, stakedSince, maxRefuted, maxLate } = values;
  const { manufacturer, proofKey } = values;
  const asked: Partial<RareTerms> = {
    ...(collateral !== undefined && { collateral }),
    ...(reservedFor !== undefined && { reservedFor }),
    ...(group !== undefined && { group: keccak256(stringToHex(group)) }),
    ...(spread !== undefined && { spread }),
    ...(earlyAccept === true && { earlyAccept }),
    ...(stakedSince !== undefined && { since: stakedSince }),
    ...(maxRefuted !== undefined && { maxRefuted }),
    ...(maxLate !== undefined && { maxLate }),
    ...(manufacturer !== undefined && { manufacturer }),
    ...(proofKey !== undefined && { keyHash: proofKey }),
    ...values.class,
  };
  return Object.keys(asked).length === 0 ? undefined : { collateral: min, ...asked };
}
