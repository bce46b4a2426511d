import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { QuoteFormError } from "./errors.ts";

/** Has the machine quote 64 bytes. */
export type QuoteSource = (reportData: Uint8Array) => Uint8Array;

/** Where Linux gives a trust domain its quotes, from version 6.7 on. */
export const TSM_FOLDER = "/sys/kernel/config/tsm/report";

/**
 * Gets this trust domain's quotes through the kernel's configfs. A folder is a request: the kernel quotes the folder's
 * `inblob` and puts the quote into `outblob`.
 * @throws QuoteFormError if this machine is not a trust domain, or the kernel refuses
 */
export const tsmSource =
  (folder = TSM_FOLDER): QuoteSource =>
  (reportData) => {
    const entry = join(folder, `refute-${randomBytes(8).toString("hex")}`);
    try {
      mkdirSync(entry);
      try {
        writeFileSync(join(entry, "inblob"), reportData);
        return readFileSync(join(entry, "outblob"));
      } finally {
        rmdirSync(entry);
      }
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const what = code === "ENOENT" ? "is not there: run this in a trust domain, with Linux 6.7 or newer" : message;
      throw new QuoteFormError(`${folder}: ${what}`, { cause });
    }
  };
