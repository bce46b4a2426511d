import { errorWithCode, RefuteError } from "../base/errors.ts";

/** A stand-in's file is unreadable, malformed, or would be overwritten. The message never shows the file's content. */
export class StandInFileError extends RefuteError {
  readonly code = "STAND_IN_FILE";
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path}: ${what}`, options);
  }
}

/** A field does not fit its place in a report, an endorsement or a statement. */
export class ReportFieldError extends errorWithCode("REPORT_FIELD") {}

/**
 * A device refuses to sign: the request has another form than the reports that the device signs, or the counter is used
 * up.
 */
export class DeviceRefusalError extends errorWithCode("DEVICE_REFUSED") {}

/** Another dongle, or a command, uses the folder of a device. */
export class DeviceInUseError extends errorWithCode("DEVICE_IN_USE") {
  constructor(folder: string) {
    super(
      `${folder} is in use: a dongle, or another command, has the device; end that, or use its socket with --dongle`,
    );
  }
}

/** Nobody answers at a dongle's socket. */
export class DongleAwayError extends errorWithCode("DONGLE_AWAY", { retryable: true }) {}

/** The program answering at a dongle's socket is no dongle. */
export class DongleAnswerError extends errorWithCode("DONGLE_ANSWER") {}

/** A device's next report must wait for a block. */
export class ReportTooSoonError extends errorWithCode("REPORT_TOO_SOON", { retryable: true }) {}

/** The answering device does not back the worker: its exams would not count. */
export class ExamElsewhereError extends errorWithCode("EXAM_ELSEWHERE") {}

/** An address holds no exams of this deployment. */
export class WrongExamsError extends errorWithCode("WRONG_EXAMS") {}
