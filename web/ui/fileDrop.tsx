import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

type Props = {
  /** Of the field. */
  name: string;
  accept: string;
  label: string;
  onFile: (file: File) => void;
  isSlim?: boolean;
  children: ComponentChildren;
};

/** A place for a file: it is dropped there, or chosen. */
export function FileDrop({ name, accept, label, onFile, isSlim = false, children }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const take = (file: File | undefined): void => {
    if (file !== undefined) onFile(file);
  };
  return (
    <div
      class={`state drop${isSlim ? " slim" : ""}${isOver ? " over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files[0]);
      }}
    >
      <p class={isSlim ? "soft small" : ""}>{children}</p>
      <button class={isSlim ? "button" : "button main"} type="button" onClick={() => field.current?.click()}>
        Choose a file
      </button>
      <input
        ref={field}
        hidden
        type="file"
        name={name}
        accept={accept}
        aria-label={label}
        onChange={(event) => {
          take(event.currentTarget.files?.[0]);
          // The same file may be chosen again.
          event.currentTarget.value = "";
        }}
      />
    </div>
  );
}
