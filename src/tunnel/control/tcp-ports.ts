/** What the tunnel side asks of the public side: to let visitors in at a port. */
export interface TcpPorts {
  /**
   * Begins to listen, or goes on where it already does for another tunnel.
   * @param port 0 for any free one. @returns the port; undefined when something else on this machine has it.
   */
  open(port: number): Promise<number | undefined>;
  /**
   * Lets one tunnel go. When it was the last, the port is kept for so many milliseconds, so that nothing else on this
   * machine takes it while the agent comes back; visitors are turned away meanwhile.
   */
  release(port: number, keepMs: number): void;
}
