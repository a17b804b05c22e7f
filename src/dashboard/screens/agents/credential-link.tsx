import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { AgentCredential } from '../../generated/operations.ts';

/** A link to a credential, labelled with its description. */
export function CredentialLink({ id }: { id: string }) {
  const { data } = useQuery(AgentCredential, { id }, { kinds: ['credential'] });
  return <a href={objectPath('credential', id)}>{data?.credential?.description || id}</a>;
}
