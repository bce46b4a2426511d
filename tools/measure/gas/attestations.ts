import type { Hex } from "viem";
import { deployExams, nextExam, sit } from "../../../testkit/protocol/examKit.ts";
import { enrol, renew, scopeOf } from "../../../testkit/protocol/reports.ts";
import { signedStatement, TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { createWorld, gasOf } from "../../../testkit/protocol/world.ts";

/** Gas of a transaction about a device. */
export type AttestationGas = { transaction: string; gas: number };

/** Measures the transactions sent by workers and manufacturers to `Provisioning`. */
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
  await world.networkHelpers.time.increase(86_401);
  await measure("report, the first of a lease", renew(world, first, known));
  await measure("enrol, in place of another device", enrol(world, first, other));
  await measure("makeStatement, the first of its subject", state(statement));
  await measure("makeStatement, a later one", state(again));
  const exams = await deployExams(world);
  const third = world.stranger.account.address;
  const examined = new TestDevice(manufacturer);
  await enrol(world, third, examined);
  // From the 17th on, a report takes the place of an old one.
  for (let k = 0; k < 17; k++) {
    const gridBlock = await nextExam(world, exams);
    const [before, after] = [
      sit(world, exams, second, newProduct, { gridBlock }),
      () => sit(world, exams, third, examined, { gridBlock }),
    ];
    const first = await before;
    if (k < 16) await after();
    if (k === 0) await measure("sit, a device's first exam", Promise.resolve(first));
    if (k < 16) continue;
    await measure("sit, the first report of an exam", Promise.resolve(first));
    await measure("sit, a later report", after());
  }
  return rows;
}
