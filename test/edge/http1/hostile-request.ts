// One request that is hostile, broken or merely odd, and what becomes of it.

export interface HostileRequest {
  name: string;
  /** Latin-1. All that the visitor sends before it ends. */
  bytes: string;
  /** Of the answers, in order. */
  statuses: number[];
  /** How many requests reach the upstream. */
  reaching: number;
}

export const GET = 'GET / HTTP/1.1\r\n';
export const POST = 'POST / HTTP/1.1\r\n';
export const HOST = 'Host: app.test\r\n';
export const END = '\r\n';
export const BODY = '5\r\nhello\r\n0\r\n\r\n';

export const refused = (status: number, name: string, bytes: string): HostileRequest => ({
  name,
  bytes,
  statuses: [status],
  reaching: 0,
});
export const passed = (name: string, bytes: string): HostileRequest => ({ name, bytes, statuses: [200], reaching: 1 });
