/** The TCP listeners of the edge, as the tunnel layer sees them. */
export interface TcpPorts {
  /**
   * Listens on a port for one tunnel. Several tunnels may open the same port.
   * @param port 0 for any free one. @returns the port; undefined when another process of the machine uses it.
   */
  open(port: number): Promise<number | undefined>;
  /**
   * Releases the port for one tunnel. After the last tunnel the listener stays open for `holdMs` milliseconds and rejects
   * visitors, so that no other process of the machine takes the port before the agent reconnects.
   */
  release(port: number, holdMs: number): void;
}
