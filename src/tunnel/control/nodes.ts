// Which nodes there are. The control plane finds them in the database.

import type { NodeRef } from './routes.ts';

export interface NodeSource {
  /**
   * The other nodes that are alive and that this node can reach over links. It is read from the database once a second at most. It
   * never rejects: while the database does not answer, these are the nodes that were known before.
   */
  otherNodes(): Promise<readonly NodeRef[]>;
}
