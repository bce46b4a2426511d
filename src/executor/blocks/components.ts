import type { Program } from "../../program/types.ts";

/** Steps that are executed together, and whether their items must be executed one after the other. */
export type Component = { steps: readonly number[]; isCircle: boolean };

/** A step must be executed after another. */
export type Edge = { from: number; to: number };

/**
 * Orders a program's steps for executing several items of a run together. An edge leads from each step to the steps
 * that read its tensor, and from each carried step to the steps that read what is carried. A strongly connected
 * component is a circle if it has several steps, or a step that reads what it gave in the item before.
 * @param guessed The checkpoints whose tensors the caller guesses: no edges begin there.
 * @param more Further edges.
 * @returns the components, each after all components from which an edge leads to it; otherwise in the program's order
 */
export function componentsOf(program: Program, guessed: ReadonlySet<number>, more: readonly Edge[] = []): Component[] {
  const { steps, inputs, checkpoints } = program;
  const sources = steps.map((step) =>
    step.inputs.flatMap((ref) => {
      if (ref.kind === "step") return [ref.index];
      const source = ref.kind === "input" ? inputs[ref.index]!.source : undefined;
      return source?.kind === "carried" && !guessed.has(source.checkpoint)
        ? [checkpoints[source.checkpoint]!.step]
        : [];
    }),
  );
  for (const { from, to } of more) sources[to]!.push(from);
  const groups = stronglyConnected(sources);
  const groupOf: number[] = [];
  groups.forEach((group, g) => group.forEach((step) => (groupOf[step] = g)));
  // The least group that waits for nothing comes next: the program's order keeps tensors short-lived.
  const waits = groups.map(
    (group, g) => new Set(group.flatMap((s) => sources[s]!.map((from) => groupOf[from]!)).filter((from) => from !== g)),
  );
  const followers: number[][] = groups.map(() => []);
  waits.forEach((froms, g) => froms.forEach((from) => followers[from]!.push(g)));
  const first = groups.map((group) => Math.min(...group));
  const ready = groups.map((_, g) => g).filter((g) => waits[g]!.size === 0);
  const ordered: Component[] = [];
  while (ready.length > 0) {
    const least = ready.reduce((best, g, k) => (first[g]! < first[ready[best]!]! ? k : best), 0);
    const [g] = ready.splice(least, 1) as [number];
    const own = groups[g]!.toSorted((a, b) => a - b);
    ordered.push({ steps: own, isCircle: own.length > 1 || sources[own[0]!]!.includes(own[0]!) });
    for (const next of followers[g]!) {
      waits[next]!.delete(g);
      if (waits[next]!.size === 0) ready.push(next);
    }
  }
  return ordered;
}

/** Tarjan's algorithm without recursion: programs have thousands of steps in a row. */
function stronglyConnected(sources: readonly (readonly number[])[]): number[][] {
  const index = new Array<number>(sources.length).fill(-1);
  const low = new Array<number>(sources.length).fill(0);
  const isOpen = new Array<boolean>(sources.length).fill(false);
  const open: number[] = [];
  const groups: number[][] = [];
  let count = 0;
  for (let root = 0; root < sources.length; root++) {
    if (index[root] !== -1) continue;
    const calls = [{ node: root, next: 0 }];
    while (calls.length > 0) {
      const call = calls.at(-1)!;
      const { node } = call;
      if (call.next === 0) {
        index[node] = low[node] = count++;
        open.push(node);
        isOpen[node] = true;
      }
      const to = sources[node]![call.next++];
      if (to !== undefined) {
        if (index[to] === -1) calls.push({ node: to, next: 0 });
        else if (isOpen[to]) low[node] = Math.min(low[node]!, index[to]!);
        continue;
      }
      calls.pop();
      const parent = calls.at(-1)?.node;
      if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[node]!);
      if (low[node] !== index[node]) continue;
      const group = open.splice(open.lastIndexOf(node));
      for (const member of group) isOpen[member] = false;
      groups.push(group);
    }
  }
  return groups;
}
