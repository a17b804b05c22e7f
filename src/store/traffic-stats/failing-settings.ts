/** When an endpoint counts as failing. */
export interface FailingSettings {
  /** How long is looked back, in milliseconds. */
  failingWindow: number;
  /** The share of requests that fail, from 0 to 1; 0: no endpoint is ever failing. */
  failingShare: number;
  /** So many requests at least. */
  failingMinRequests: number;
}
