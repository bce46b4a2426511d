import { counted, grouped, shown } from "../format.ts";
import { VirtualList } from "../ui/virtualList.tsx";
import type { StepView } from "./messages.ts";

/** The steps of a compiled program: what each computes, how large, what the proof of one number costs. */
export function StepList({ steps }: { steps: readonly StepView[] }) {
  const largest = steps.reduce((max, { gas }) => Math.max(max, gas), 1);
  return (
    <VirtualList
      label="Steps of the program"
      count={steps.length}
      rowHeight={36}
      row={(k) => {
        const { operator, node, dtype, count, bytes, gas, isCheckpoint } = steps[k]!;
        return (
          <div class="step">
            <span class="soft number">{k}</span>
            <strong class="clip" title={shown(node)}>
              {shown(operator, 60)}
            </strong>
            <span class="soft small number clip" title={counted(bytes, "byte")}>
              {grouped(count)} {dtype}
            </span>
            <span class="small">{isCheckpoint ? "checkpoint" : ""}</span>
            <span class="small number right">
              {grouped(gas)} gas
              <span class="gauge" style={{ width: `${(gas / largest) * 100}%` }} />
            </span>
          </div>
        );
      }}
    />
  );
}
