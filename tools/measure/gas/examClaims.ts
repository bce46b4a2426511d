import type { Hex } from "viem";
import { nextExam } from "../../../testkit/protocol/examKit.ts";
import { challenged, createExamClaimsWorld, satExam } from "../../../testkit/protocol/examClaimsWorld.ts";
import { gasOf } from "../../../testkit/protocol/world.ts";
import type { AttestationGas } from "./attestations.ts";

/** Measures the transactions by workers and watchers that make exams disputable. The class's program has one output. */
export async function examClaimsGas(): Promise<AttestationGas[]> {
  const world = await createExamClaimsWorld();
  const { claims, examClaims, networkHelpers, worker } = world;
  const { account } = worker;
  const rows: AttestationGas[] = [];
  const measure = async (transaction: string, sent: Promise<Hex>): Promise<void> => {
    rows.push({ transaction, gas: Number(await gasOf(world, await sent)) });
  };
  const enrol = (): Promise<Hex> => examClaims.write.enrol([account.address], { account });
  await world.exams.write.numberExam([await nextExam(world, world.exams)]);
  await measure("enrol, a worker's first pledge", enrol());
  await claims.write.requestRelease({ account });
  await networkHelpers.time.increase(86_401);
  await claims.write.release({ account });
  await claims.write.pledge({ account });
  await measure("enrol, another pledge", enrol());
  const sat = await satExam(world);
  const { claim, hash } = await challenged(world, sat);
  await measure("challenge, from anybody", Promise.resolve(hash));
  await networkHelpers.time.increase(86_401);
  await measure("finalise, a result that nobody disputed", claims.write.finalise([claim], { account }));
  return rows;
}
