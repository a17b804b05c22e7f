// The settings of alerts.

export interface AlertSettings {
  /** The mail server, `smtp://user:password@host:587`, and the sender; undefined: no e-mail is sent. */
  smtp: { url: string; from: string } | undefined;
  /** How long after the start of a gateway nothing is said about agents, which are coming back; milliseconds. */
  alertGraceMs: number;
}
