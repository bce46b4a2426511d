import type { Address, Hex } from "viem";
import { REASONS, type Reason } from "../../src/chain/structs.ts";
import type { SignedReport } from "./reports.ts";
import { TestDevice } from "./testDevice.ts";
import type { World } from "./deployWorld.ts";

/** Returns helpers for repeated actions in tests of attestations, within a file's world. */
export function provisioningKit(world: () => World) {
  const account = (name: "worker" | "watcher" | "requester" | "mallory" | "stranger"): Address =>
    world()[name].account.address;
  const reader = () => world().provisioning.read;
  return {
    account,
    time: () => world().networkHelpers.time,
    fresh: (maker = world().manufacturer): TestDevice => new TestDevice(maker),
    revert: (sent: Promise<unknown>, name: string, args?: unknown[]): Promise<void> =>
      args === undefined
        ? world().viem.assertions.revertWithCustomError(sent, world().provisioning, name as never)
        : world().viem.assertions.revertWithCustomErrorWithArgs(sent, world().provisioning, name as never, args),
    emits: (sent: Promise<Hex>, name: string, args: unknown[]): Promise<void> =>
      world().viem.assertions.emitWithArgs(sent, world().provisioning, name as never, args as never),
    report: ({ report, signature }: SignedReport, by: Address = report.worker): Promise<Hex> =>
      world().provisioning.write.report([report, signature], { account: by }),
    enrol: (device: TestDevice, { report, signature }: SignedReport): Promise<Hex> =>
      world().provisioning.write.enrol([device.endorsement, report, signature], { account: report.worker }),
    /** Why an account may not stake and claim, and the time that goes with it. */
    reason: async (owner: Address): Promise<[Reason, number]> => {
      const [reason, time] = await reader().whyNotEligible([owner]);
      return [REASONS[reason]!, Number(time)];
    },
    isLive: (owner: Address): Promise<boolean> => reader().isLive([owner]),
    now: (): Promise<number> => world().networkHelpers.time.latest(),
  };
}
