import { useId } from 'preact/hooks';
import { Tag } from '../../ui/feedback/tag.tsx';
import type { AclDryRun } from './use-acl-dry-run.ts';

interface BindDryRunProps {
  bind: string;
  onChange: (bind: string) => void;
  result: AclDryRun['binds'][number] | undefined;
  /** There are rules, but all of them are unfinished. */
  hasOnlyUnfinishedRules: boolean;
}

/** Tells whether the rules above would allow an agent to bind something. */
export function BindDryRun({ bind, onChange, result, hasOnlyUnfinishedRules }: BindDryRunProps) {
  const id = useId();
  return (
    <div class="bind-dry-run">
      <label for={id}>Would this be allowed?</label>
      <input
        id={id}
        type="text"
        class="code"
        value={bind}
        placeholder="app.example.com"
        aria-describedby={`${id}-answer`}
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <p class="help" id={`${id}-answer`} role="status">
        {bind.trim() === '' ? (
          'Try a name, an address such as 1.example.com:20000, or a label such as key=value. Nothing is stored.'
        ) : hasOnlyUnfinishedRules ? (
          'Fill a rule in first.'
        ) : result ? (
          <>
            <Tag variant={result.isAllowed ? 'good' : 'bad'}>{result.isAllowed ? 'yes' : 'no'}</Tag> {result.message}
          </>
        ) : (
          '…'
        )}
      </p>
    </div>
  );
}
