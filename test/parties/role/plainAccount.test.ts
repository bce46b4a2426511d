import { expect } from "chai";
import { zeroAddress } from "viem";
import { NotPlainAccountError, requirePlainAccount } from "../../../src/parties/role/plainAccount.ts";
import { rejection } from "../../../testkit/rejection.ts";

const sessionWith = (code: `0x${string}` | undefined) =>
  ({ publicClient: { getCode: () => Promise.resolve(code) }, sender: { address: zeroAddress } }) as never;

describe("requirePlainAccount", () => {
  it("accountWithoutCode_passes_andADelegatingOne_isRefused", async () => {
    await requirePlainAccount(sessionWith(undefined));
    await requirePlainAccount(sessionWith("0x"));
    const delegation = `0xef0100${"11".repeat(20)}` as const;
    expect(await rejection(requirePlainAccount(sessionWith(delegation)))).to.be.instanceOf(NotPlainAccountError);
  });
});
