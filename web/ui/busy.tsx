import { grouped } from "../format.ts";

type Props = {
  /** What is under way. */
  busy: { what: string; done: number; total: number };
  onCancel: () => void;
};

/** What is computed, how far it is, and a way to end it. */
export function Busy({ busy: { what, done, total }, onCancel }: Props) {
  return (
    <div class="row" role="status">
      <progress value={done} max={Math.max(total, 1)} />
      <span class="number">
        {what} {total > 1 && `${grouped(done)} of ${grouped(total)}`}
      </span>
      <button class="button" type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
