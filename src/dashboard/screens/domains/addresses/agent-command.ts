// The agent's command for a reserved TCP address.

/** What it serves in examples: remote shells are what most addresses are reserved for. */
const EXAMPLE_PORT = 22;

/** `tcp 22 --port 20123`. @param port that of the address. */
export function tcpCommand(port: string): string {
  return `tcp ${EXAMPLE_PORT} --port ${port}`;
}

/** The port of an address such as `gateway.example.com:20123`. */
export function portOf(addr: string): string {
  return addr.slice(addr.lastIndexOf(':') + 1);
}
