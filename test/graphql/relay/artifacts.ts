// Relay's tag `graphql`, as its plugin for bundlers replaces it: by what the compiler made of the document.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DefinitionNode, parse, print } from 'graphql';
import type { ConcreteRequest, ReaderFragment } from 'relay-runtime';

/** What the compiler makes of an operation, or of a fragment. */
export type RelayArtifact = (ConcreteRequest | ReaderFragment) & { readonly hash?: string };

const artifacts: Record<string, RelayArtifact> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'artifacts.json'), 'utf8'),
);

/** The artifact of one document. @throws when another text was compiled. */
export function graphql(text: TemplateStringsArray): RelayArtifact {
  const [definition] = parse(String(text.raw[0])).definitions as (DefinitionNode & { name: { value: string } })[];
  if (!definition) throw new Error('there is no definition');
  const hash = createHash('md5').update(print(definition)).digest('hex');
  const artifact = artifacts[definition.name.value];
  if (artifact?.hash !== hash)
    throw new Error(`${definition.name.value} was not compiled: node test/graphql/relay/compile.js`);
  return artifact;
}

/** All that Relay would send to a server. */
export const compiledTexts = Object.values(artifacts).flatMap((artifact) =>
  artifact.kind === 'Request' && artifact.params.text ? [artifact.params.text] : [],
);
