import type { Hex } from "viem";
import { enrol, renew, scopeOf } from "../../../testkit/protocol/reports.ts";
import { signedStatement, TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { createWorld, gasOf } from "../../../testkit/protocol/world.ts";

/** Gas of a transaction about a device. */
export type AttestationGas = { transaction: string; gas: number };

/** What workers and manufacturers send to `Provisioning`. */
export async function attestationGas(): Promise<AttestationGas[]> {
  const world = await createWorld();
  const { provisioning, manufacturer, mallory, watcher } = world;
  const [first, second] = [mallory.account.address, watcher.account.address];
  const [known, other] = [manufacturer, manufacturer].map((maker) => new TestDevice(maker)) as [TestDevice, TestDevice];
  const newProduct = new TestDevice(manufacturer, { firmware: `0x${"77".repeat(32)}` });
  const statement = { ...scopeOf({ device: known.id }), frozen: true, number: 1n };
  const again = { ...statement, frozen: false, number: 2n };
  const release = (): Promise<Hex> => provisioning.write.release({ account: first });
  const state = (of: typeof statement): Promise<Hex> =>
    provisioning.write.makeStatement(signedStatement(manufacturer, of));
  const rows: AttestationGas[] = [];
  const measure = async (transaction: string, sent: Promise<Hex>): Promise<void> => {
    rows.push({ transaction, gas: Number(await gasOf(world, await sent)) });
  };
  await measure("enrol, the first device of its firmware", enrol(world, second, newProduct));
  await measure("enrol, another device", enrol(world, first, known));
  await measure("report, renewed", renew(world, first, known));
  await measure("release", release());
  await measure("report, the first of a lease", renew(world, first, known));
  await measure("enrol, in place of another device", enrol(world, first, other));
  await measure("makeStatement, the first of its subject", state(statement));
  await measure("makeStatement, a later one", state(again));
  return rows;
}
