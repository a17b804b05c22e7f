// The interface between the tunnel layer and what knows from which addresses the agents of accounts may connect.

/** The restriction of an account. */
export interface AgentRestriction {
  /** Whether agents at an address are refused. */
  refuses(ip: string): boolean;
  /** Why an agent is refused; undefined when it may connect. It is called once for each that asks. */
  refusal(ip: string): string | undefined;
}

export interface AgentAddresses {
  /** Undefined: agents may connect from anywhere. */
  of(accountId: string): AgentRestriction | undefined;
  /**
   * Calls the listener when the restrictions of these accounts have changed; null: of any.
   * @returns the function that removes the listener.
   */
  onChange(listener: (accountIds: readonly string[] | null) => void): () => void;
}
