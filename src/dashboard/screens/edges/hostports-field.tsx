// The field for what an edge answers: host names, or the addresses of a TCP edge.

import type { ComponentChildren, ComponentType } from 'preact';
import { useQuery } from '../../data/hooks/use-query.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { ReservedAddressNames, ReservedDomainNames } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import type { FieldProps } from '../../ui/forms/field.tsx';
import { ListField, type ListFieldProps, nonEmptyLines } from '../../ui/forms/list-field.tsx';
import { type EdgeKind, hostName } from './navigation.ts';

const MAX_LINES = 100;
const MAX_SUGGESTIONS = 8;

type BoundField = Pick<FieldProps<readonly string[]>, 'name' | 'value' | 'onChange'>;

export function HostportsField({ kind, ...field }: BoundField & { kind: EdgeKind }) {
  return kind === 'tcpEdge' ? <AddressesField {...field} /> : <NamesField kind={kind} {...field} />;
}

function NamesField({ kind, ...field }: BoundField & { kind: EdgeKind }) {
  return (
    <ReservedField
      {...field}
      kind={kind}
      label="Names"
      itemName="name"
      placeholder="app.example.com"
      validateLine={validateHostName}
      help="Reserved domains, or names below a reserved wildcard. An edge answers on port 443 only."
      Suggestions={ReservedNames}
    />
  );
}

interface SuggestionsProps {
  /** What the buttons do with a suggestion: `Add`. */
  verb: string;
  /** Whether it is in the form already. */
  isTaken: (name: string) => boolean;
  onPick: (name: string) => void;
}

/** Buttons that put reserved domains into a form. */
export function ReservedNames(props: SuggestionsProps) {
  const { data } = useQuery(ReservedDomainNames, {}, { kinds: ['reservedDomain'] });
  return (
    <Suggestions {...props} reserved={data?.reservedDomains?.nodes.map(({ domain }) => domain)}>
      No domain is reserved yet, and only reserved ones are answered:{' '}
      <a href={pathTo('domains', 'new')}>reserve a domain</a> first.
    </Suggestions>
  );
}

function AddressesField(field: BoundField) {
  return (
    <ReservedField
      {...field}
      kind="tcpEdge"
      label="Addresses"
      itemName="address"
      placeholder="gateway.example.com:20123"
      validateLine={validateAddress}
      help="Reserved TCP addresses."
      Suggestions={ReservedAddresses}
    />
  );
}

function ReservedAddresses(props: SuggestionsProps) {
  const { data } = useQuery(ReservedAddressNames, {}, { kinds: ['reservedAddress'] });
  return (
    <Suggestions {...props} reserved={data?.reservedAddresses?.nodes.map(({ addr }) => addr)}>
      No TCP address is reserved yet, and an edge only answers reserved ones:{' '}
      <a href={pathTo('domains', 'addresses', 'new')}>reserve an address</a> first.
    </Suggestions>
  );
}

interface ReservedSuggestionsProps extends SuggestionsProps {
  /** What the account has reserved, of which some is suggested; undefined while it is loading. */
  reserved: readonly string[] | undefined;
  /** Shown when that is nothing. */
  children: ComponentChildren;
}

function Suggestions({ verb, reserved, isTaken, onPick, children }: ReservedSuggestionsProps) {
  const suggestions = reserved?.filter((name) => !isTaken(name)).slice(0, MAX_SUGGESTIONS) ?? [];
  return (
    <>
      {suggestions.length > 0 && (
        <div class="actions">
          {suggestions.map((name) => (
            <Button key={name} onClick={() => onPick(name)}>
              {verb} {name}
            </Button>
          ))}
        </div>
      )}
      {reserved?.length === 0 && (
        <Note>
          <p>{children}</p>
        </Note>
      )}
    </>
  );
}

interface ReservedFieldProps extends ListFieldProps {
  kind: EdgeKind;
  Suggestions: ComponentType<SuggestionsProps>;
}

function ReservedField({ kind, Suggestions, ...field }: ReservedFieldProps) {
  const { value, onChange } = field;
  const taken = linesToHostports(kind, value);
  return (
    <div class="hostports">
      <ListField
        {...field}
        maxLines={MAX_LINES}
        validate={(lines) => {
          const all = linesToHostports(kind, lines);
          const twice = all.find((hostport, index) => all.indexOf(hostport) < index);
          return twice === undefined ? null : `${hostName(twice)} stands twice.`;
        }}
      />
      <Suggestions
        verb="Add"
        isTaken={(name) => linesToHostports(kind, [name]).some((hostport) => taken.includes(hostport))}
        onPick={(name) => onChange([...nonEmptyLines(value), name])}
      />
    </div>
  );
}

/** The host and port of each line. The default port of names is 443; addresses have theirs. */
export function linesToHostports(kind: EdgeKind, lines: readonly string[]): string[] {
  const withPort = (line: string) => (kind === 'tcpEdge' || line.includes(':') ? line : `${line}:443`);
  return nonEmptyLines(lines).map((line) => withPort(line).toLowerCase());
}

/** A host name, with port 443 or none. */
export function validateHostName(line: string): string | null {
  const [, name, port] = /^([^:]*)(?::(.*))?$/.exec(line.trim()) ?? [];
  if (!/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(name ?? '')) return 'This must be a name, as app.example.com.';
  return port === undefined || port === '443' ? null : 'An edge answers on port 443 only.';
}

function validateAddress(line: string): string | null {
  const isAddress = /^[a-z0-9.-]+:\d{1,5}$/i.test(line.trim());
  return isAddress ? null : 'This must be a host and a port, as gateway.example.com:20123.';
}
