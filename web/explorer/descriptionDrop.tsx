import type { Hex } from "viem";
import { useState } from "preact/hooks";
import { FileDrop } from "../ui/fileDrop.tsx";
import { Failure } from "../ui/states.tsx";
import { describe } from "./values.ts";

/** Takes a program's description (`refute model describe`): names, shapes and labels, which no root commits to. */
export function DescriptionDrop({ root }: { root: Hex }) {
  const [error, setError] = useState<unknown>();
  const [other, setOther] = useState<string>();
  const take = async (file: File): Promise<void> => {
    setOther(undefined);
    setError(undefined);
    try {
      const found = describe(file.name, await file.text());
      // What shows the program's names looks again.
      if (found === root.toLowerCase()) dispatchEvent(new HashChangeEvent("hashchange"));
      else setOther(file.name);
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <>
      <FileDrop name="description" accept=".json" label="Program description" onFile={(file) => void take(file)} isSlim>
        Have the program’s description? Drop the JSON here: names, shapes and labels appear. It stays in this page.
      </FileDrop>
      {other !== undefined && <Failure error={new Error(`${other} describes another program`)} />}
      {error !== undefined && <Failure error={error} />}
    </>
  );
}
