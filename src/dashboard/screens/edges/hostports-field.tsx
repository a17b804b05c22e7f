// The field for the host names of an edge.

import { useQuery } from '../../data/hooks/use-query.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { ReservedDomainNames } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import type { FieldProps } from '../../ui/forms/field.tsx';
import { ListField, nonEmptyLines } from '../../ui/forms/list-field.tsx';
import { hostName } from './navigation.ts';

const MAX_NAMES = 100;
const MAX_SUGGESTIONS = 8;

type HostportsFieldProps = Pick<FieldProps<readonly string[]>, 'name' | 'value' | 'onChange'>;

export function HostportsField(field: HostportsFieldProps) {
  const { value, onChange } = field;
  const { data } = useQuery(ReservedDomainNames, {}, { kinds: ['reservedDomain'] });
  const reserved = data?.reservedDomains?.nodes.map(({ domain }) => domain) ?? [];
  const taken = linesToHostports(value);
  const suggestions = reserved.filter((domain) => !taken.includes(`${domain}:443`)).slice(0, MAX_SUGGESTIONS);
  return (
    <div class="hostports">
      <ListField
        {...field}
        label="Names"
        itemName="name"
        placeholder="app.example.com"
        maxLines={MAX_NAMES}
        validateLine={validateName}
        validate={(lines) => {
          const all = linesToHostports(lines);
          const twice = all.find((hostport, index) => all.indexOf(hostport) < index);
          return twice === undefined ? null : `${hostName(twice)} stands twice.`;
        }}
        help="Reserved domains, or names below a reserved wildcard. An edge answers on port 443 only."
      />
      {suggestions.length > 0 && (
        <div class="actions">
          {suggestions.map((domain) => (
            <Button key={domain} onClick={() => onChange([...nonEmptyLines(value), domain])}>
              Add {domain}
            </Button>
          ))}
        </div>
      )}
      {data && reserved.length === 0 && (
        <Note>
          <p>
            No domain is reserved yet, and an edge only answers reserved ones:{' '}
            <a href={pathTo('domains', 'new')}>reserve a domain</a> first.
          </p>
        </Note>
      )}
    </div>
  );
}

/** The host and port of each line. The default port is 443. */
export function linesToHostports(lines: readonly string[]): string[] {
  return nonEmptyLines(lines).map((line) => (line.includes(':') ? line.toLowerCase() : `${line.toLowerCase()}:443`));
}

function validateName(line: string): string | null {
  const [, name, port] = /^([^:]*)(?::(.*))?$/.exec(line.trim()) ?? [];
  if (!/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(name ?? '')) return 'This must be a name, as app.example.com.';
  return port === undefined || port === '443' ? null : 'An edge answers on port 443 only.';
}
