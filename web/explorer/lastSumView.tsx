import type { GameRecord } from "../../src/chain/market/history.ts";
import { counted, grouped } from "../format.ts";
import { MAX_TERMS, resultName, type LastSum } from "./lastSum.ts";

type Props = {
  proved: NonNullable<GameRecord["proved"]>;
  sum: LastSum | undefined;
  /** Who recomputed it. */
  by?: string;
};

/** The one number that the chain recomputed: what was claimed, what is exact, and the sum itself. */
export function LastSumView({ proved, sum, by = "the chain" }: Props) {
  const isWritten = sum !== undefined && (sum.count > 0 || sum.others.length > 0 || sum.formula !== undefined);
  return (
    <section class="card stack" aria-label="The last sum">
      <h2>
        Step {grouped(proved.step)}, number {grouped(proved.element)}
      </h2>
      <div class="verdict">
        <div>
          <div class="value wrong">{sum?.claimed ?? `0x${proved.claimed.toString(16)}`}</div>
          <div class="soft small">claimed by the worker</div>
        </div>
        <div>
          <div class="value">{sum?.exact ?? `0x${proved.exact.toString(16)}`}</div>
          <div class="soft small">
            exact, recomputed by {by}
            {sum && `, ${sum.dtype}`}
          </div>
        </div>
      </div>
      {isWritten && <Written sum={sum} />}
    </section>
  );
}

const WORDS: Record<string, string> = { dot: "The sum", sum: "The sum", total: "The sum" };
const NOUNS: Record<string, string> = { dot: "product" };

function Written({ sum: { reduce, terms, count, others, formula, exact } }: { sum: LastSum }) {
  const sign = { sum: " + ", dot: " + ", total: " + " }[reduce] ?? ", ";
  return (
    <div class="stack-tight">
      {count > 0 && (
        <p class="soft small">
          {WORDS[reduce] ?? reduce} of {counted(count, NOUNS[reduce] ?? "term")}, from what both sides agree on, exact,
          rounded once
          {count > MAX_TERMS && `; the first ${MAX_TERMS} are shown`}
        </p>
      )}
      {count > 0 && (
        <p class="sum mono small" tabIndex={0} role="group" aria-label="The sum, written out">
          {terms.map(({ factors }) => factors.map(signed).join(" × ")).join(sign)}
          {count > MAX_TERMS && `${sign}…`}
        </p>
      )}
      {formula !== undefined && (
        <p class="formula mono">
          {formula} = {exact}
          {count > 0 && <span class="soft small"> with the {resultName(reduce)} above</span>}
        </p>
      )}
      {formula === undefined && others.length > 0 && (
        <p class="soft small">
          {count > 0 ? "then with " : "from "}
          <span class="mono">{others.join(", ")}</span>
        </p>
      )}
    </div>
  );
}

const signed = (value: string): string => (value.startsWith("-") ? `(${value})` : value);
