import type { Hex as Bytes } from "viem";
import { getOrAdd } from "../../src/base/getOrAdd.ts";
import { stands, type JobRecord } from "../../src/chain/market/history.ts";
import type { Snapshot } from "../../src/chain/market/session.ts";
import { dtypeName } from "../../src/numerics/dtype.ts";
import type { HeaderTensor } from "../../src/program/header.ts";
import { grouped, short, shown } from "../format.ts";
import { routeHash, type Route } from "../route.ts";
import { Facts } from "../ui/facts.tsx";
import { Hex } from "../ui/hex.tsx";
import { Empty } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { useTitle } from "../ui/useTitle.ts";
import { DescriptionDrop } from "./descriptionDrop.tsx";
import type { Followed } from "./deployment.ts";
import { JobTable } from "./jobTable.tsx";
import { factsIn, programName } from "./values.ts";

type Props = { route: Route; followed: Followed; snapshot: Snapshot };

/** The programs of a market, with what became of their jobs. */
export function Programs({ route, snapshot: { history } }: Props) {
  const jobs = new Map<Bytes, JobRecord[]>();
  for (const record of history.jobs.values()) getOrAdd(jobs, record.job.programRoot, () => []).push(record);
  if (jobs.size === 0) return <Empty title="No programs yet">The program of a job appears here.</Empty>;
  return (
    <Table
      label="Programs"
      columns={[["Program"], ["Name"], ["Jobs", "right"], ["Final", "right"], ["Refuted claims", "right"]]}
      rows={[...jobs].map(([root, own]) => {
        const claims = own.flatMap((record) => record.claims);
        return {
          key: root,
          cells: [
            <a class="mono" href={routeHash(["explorer", "program", root], route.query)}>
              {short(root)}
            </a>,
            shown(programName(root) ?? "–", 60),
            grouped(own.length),
            grouped(claims.filter(stands).length),
            grouped(claims.filter(({ refuted }) => refuted).length),
          ],
        };
      })}
    />
  );
}

const tensors = (list: readonly HeaderTensor[]): string =>
  list.map(({ dtype, count }) => `${grouped(count)} × ${dtypeName(dtype)}`).join("; ");

/** One program: what its root commits to, and its jobs. */
export function ProgramPage({ root, ...props }: Props & { root: Bytes }) {
  const { history } = props.snapshot;
  const name = programName(root);
  const title = name === undefined ? `Program ${short(root)}` : shown(name, 60);
  useTitle(title);
  const record = [...history.jobs.values()].find(({ job }) => job.programRoot === root);
  if (record === undefined) return <Empty title="Not on this market">No job here has that program.</Empty>;
  const facts = factsIn(record);
  return (
    <div class="stack">
      <h1>{title}</h1>
      <Facts
        of={[
          ["Program root", <Hex value={root} />],
          ["Inputs", facts && tensors(facts.inputs)],
          ["Outputs", facts && tensors(facts.outputs)],
          ["Steps", facts && grouped(facts.steps)],
          ["Checkpoints", facts && grouped(facts.checkpoints)],
          ["Costliest proof of one number", facts && `${grouped(facts.maxStepGas)} gas`],
        ]}
      />
      {name === undefined && <DescriptionDrop root={root} />}
      <h2>Its jobs</h2>
      <JobTable {...props} program={root} />
    </div>
  );
}
