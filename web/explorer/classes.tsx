import type { Snapshot } from "../../src/chain/market/session.ts";
import { readExams } from "../../src/attestation/exams/openExams.ts";
import { grouped } from "../format.ts";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Hex } from "../ui/hex.tsx";
import { Table } from "../ui/table.tsx";
import type { Followed, Target } from "./deployment.ts";
import { useAsked } from "./useAsked.ts";

type Props = { followed: Followed; target: Target; snapshot: Snapshot };

/** The classes of machines that exams show. */
export function Classes({ followed: { reader }, target: { exams }, snapshot: { blockNumber } }: Props) {
  const ask = async () => (exams === undefined ? [] : (await readExams(reader, exams)).classes);
  const { answer, error } = useAsked(ask, `${exams} ${blockNumber}`);
  if (exams === undefined)
    return <Empty title="No exams were named">Give the address of this deployment's exams to see its classes.</Empty>;
  if (answer === undefined)
    return error === undefined ? <Loading what="Reading the classes" /> : <Failure error={error} />;
  return (
    <Table
      label="Classes"
      columns={[["Class"], ["Program of its exam"], ["Blocks to answer in", "right"]]}
      rows={answer.map(({ programRoot, blocks }, k) => ({
        key: k,
        cells: [k, <Hex value={programRoot} />, grouped(blocks)],
      }))}
    />
  );
}
