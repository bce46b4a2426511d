import { errorWithCode } from "../base/errors.ts";

/** A native runtime gave no answer, or one that has not the form that it must have. Exact execution answers instead. */
export class NativeRuntimeError extends errorWithCode("NATIVE_RUNTIME", { retryable: true }) {}

/** A model that no native runtime of this process can open. */
export class NativeModelError extends errorWithCode("NATIVE_MODEL") {}

/** A calibration cannot be used: it is damaged, or of another program or runtime. */
export class CalibrationError extends errorWithCode("CALIBRATION") {}
