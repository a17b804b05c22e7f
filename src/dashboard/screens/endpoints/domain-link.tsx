import { addressOf } from '../../data/addresses.ts';
import { useQuery } from '../../data/use-query.ts';
import { EndpointDomain } from '../../generated/operations.ts';

/** The reserved domain that a name belongs to, by its own name: a wildcard covers many. */
export function DomainLink({ id }: { id: string }) {
  const { data } = useQuery(EndpointDomain, { id }, { kinds: ['reservedDomain'] });
  return <a href={addressOf('reservedDomain', id)}>{data?.reservedDomain?.domain ?? id}</a>;
}
