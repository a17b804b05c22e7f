// A page without React: it shows what it asked for as long as it is open, and hears of what changes of it in Relay's store.

import {
  type ConcreteRequest,
  commitMutation,
  createOperationDescriptor,
  type Environment,
  fetchQuery,
  getSelector,
  type ReaderFragment,
  type SingularReaderSelector,
  type Snapshot,
  type Variables,
} from 'relay-runtime';
import type { RelayArtifact } from './artifacts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
type Data = any;

export class RelayPage {
  /** Called whenever something changed of what is shown. */
  heard: () => unknown = () => undefined;
  readonly #environment: Environment;
  readonly #shown: { dispose(): void }[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Asks for a query, or a fragment on it that can be fetched again. @returns what is shown of it now. */
  async show(document: RelayArtifact, variables: Variables): Promise<() => Data> {
    const operation = createOperationDescriptor(requestOf(document), variables);
    this.#shown.push(this.#environment.retain(operation));
    await this.fetch(document, variables);
    const root = this.#environment.lookup(operation.fragment);
    let snapshot = document.kind === 'Request' ? root : this.#lookup(document, root.data);
    const taken = (next: Snapshot) => {
      snapshot = next;
      this.heard();
    };
    this.#shown.push(this.#environment.subscribe(snapshot, taken));
    return () => whole(snapshot);
  }

  /** Asks the server for it. */
  async fetch(document: RelayArtifact, variables: Variables): Promise<void> {
    await fetchQuery(this.#environment, requestOf(document), variables).toPromise();
  }

  async mutate(mutation: RelayArtifact, variables: Variables, optimisticResponse: Data = undefined): Promise<Data> {
    return new Promise((onCompleted, onError) => {
      const config = { mutation, variables, optimisticResponse, onCompleted, onError };
      commitMutation<{ variables: Variables; response: Data; rawResponse: Data }>(this.#environment, config);
    });
  }

  /** What a fragment has of an object that is shown. */
  read(fragment: RelayArtifact, object: object): Data {
    return whole(this.#lookup(fragment, object));
  }

  close(): void {
    for (const one of this.#shown) one.dispose();
  }

  #lookup(fragment: RelayArtifact, object: unknown): Snapshot {
    return this.#environment.lookup(getSelector(fragment as ReaderFragment, object as never) as SingularReaderSelector);
  }
}

/** @throws where something is missing that was asked for, as a page would show a gap there. */
function whole({ data, isMissingData }: Snapshot): unknown {
  if (isMissingData) throw new Error(`something is missing: ${JSON.stringify(data)}`);
  return data;
}

/** The operation, or the one that the compiler made for a fragment that can be fetched again. */
function requestOf(document: RelayArtifact): ConcreteRequest {
  return document.kind === 'Request' ? document : (document.metadata?.refetch?.operation as ConcreteRequest);
}
