import { useState } from "preact/hooks";
import { shown } from "../format.ts";
import { routeHash } from "../route.ts";
import { Failure, Loading } from "../ui/states.tsx";
import { isAgreed, targetOf, type Target } from "./deployment.ts";
import { Opened } from "./opened.tsx";
import { TargetForm } from "./targetForm.tsx";
import { useSnapshot } from "./useSnapshot.ts";
import type { PageProps } from "../pageProps.ts";

/** For whoever came without a node: what this is, and what can be tried without one. */
const ELSEWHERE = [
  {
    title: "What is this?",
    text:
      "Workers compute models and vouch for each number. Anybody may compute them again; where two disagree, the chain " +
      "recomputes a single number, and whoever was wrong pays.",
    link: "What Refute is",
    path: ["docs", "overview"],
  },
  {
    title: "Without a node",
    text: "Drop a model, run it exactly, change one number of it, and see how it is found. All of it happens in this page.",
    link: "Try a model",
    path: ["playground"],
  },
  {
    title: "Your own worker",
    text: "What a worker or a watcher that you run says of itself: conditions, money, games, execution times.",
    link: "Look at its metrics",
    path: ["operators"],
  },
];

/** Jobs, claims and disputes of a deployment. */
export function ExplorerPage({ route }: PageProps) {
  const [tries, setTries] = useState(0);
  let target: Target | undefined;
  let wrong: unknown;
  try {
    target = targetOf(route.query);
  } catch (error) {
    wrong = error;
  }
  const retry = (): void => setTries(tries + 1);
  const asked = target !== undefined && isAgreed(target) ? target : undefined;
  const live = useSnapshot(asked, tries);
  if (asked === undefined)
    return (
      <div class="stack">
        <div class="stack-tight">
          <h1>Look at a market</h1>
          <p class="soft">
            Jobs, claims and disputes, read from a node of the chain as they happen. To try it on this machine:{" "}
            <code>npm run refute -- devnet --model MODEL.onnx --liar</code>.
          </p>
        </div>
        {wrong !== undefined && <Failure error={wrong} />}
        {target !== undefined && (
          <p>
            This link names the node at <strong>{shown(new URL(target.rpc).host)}</strong>. It will see that you ask,
            and what is shown is what it says. Look only if you trust it.
          </p>
        )}
        <TargetForm route={route} onAgreed={retry} />
        {target === undefined && <Elsewhere />}
      </div>
    );
  if (live.snapshot === undefined || live.followed === undefined)
    return (
      <div class="stack">
        {live.error === undefined ? (
          <Loading what={`Reading the market from ${asked.rpc}`} />
        ) : (
          <Failure error={live.error} onRetry={retry} />
        )}
        {live.error !== undefined && <TargetForm route={route} onAgreed={retry} />}
      </div>
    );
  return (
    <div class="stack">
      {live.error !== undefined && <Failure error={live.error} onRetry={retry} />}
      <Opened route={route} target={asked} followed={live.followed} snapshot={live.snapshot} />
    </div>
  );
}

function Elsewhere() {
  return (
    <div class="columns">
      {ELSEWHERE.map(({ title, text, link, path }) => (
        <section key={title} class="stack-tight">
          <h2>{title}</h2>
          <p class="soft">{text}</p>
          <p>
            <a href={routeHash(path)}>{link}</a>
          </p>
        </section>
      ))}
    </div>
  );
}
