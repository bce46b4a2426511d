import { expect } from "chai";
import { zeroAddress } from "viem";
import { RpcUnavailableError } from "../../../src/chain/errors.ts";
import {
  NotPlainAccountError,
  requirePlainAccount,
  requirePlainAccountAtStart,
} from "../../../src/parties/role/plainAccount.ts";
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

  it("withoutAnAnswer_aRoleBeginsAllTheSame", async () => {
    const getCode = () => Promise.reject(new RpcUnavailableError("away"));
    const session = { publicClient: { getCode }, sender: { address: zeroAddress } } as never;
    await requirePlainAccountAtStart(session);
    expect(await rejection(requirePlainAccount(session))).to.be.instanceOf(RpcUnavailableError);
    const delegating = requirePlainAccountAtStart(sessionWith(`0xef0100${"11".repeat(20)}`));
    expect(await rejection(delegating)).to.be.instanceOf(NotPlainAccountError);
  });
});
