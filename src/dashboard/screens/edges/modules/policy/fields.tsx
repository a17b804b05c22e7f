// The fields for policies: a whole document, or lists of rules.

import { useId, useRef } from 'preact/hooks';
import type { FieldBinding } from '../../../../ui/forms/use-form-fields.ts';
import { required } from '../../../../ui/forms/validators.ts';
import { type ModuleField, moduleField } from '../field-kinds.tsx';
import { CodeEditor, type CodeEditorHandle } from './code-editor.tsx';
import { examples } from './examples.ts';
import { type PolicyHost, policyHost } from './policy-host.ts';
import { ProblemList, useProblems } from './problems.tsx';
import { MASK } from './secrets.ts';
import { mayHoldSecret } from './typed-secrets.ts';

const SECRETS = `Where it says ${MASK}, a secret is set; left so, it stays.`;

/** A field for a document in JSON or YAML. */
export function documentField(name: string): ModuleField {
  return moduleField<string>({
    name,
    initialValue: (settings) => String(settings?.[name] ?? ''),
    toInput: (text) => text,
    holdsSecret: mayHoldSecret,
    render: (bound, _settings, host) => <PolicyField {...bound} host={policyHost(host)} />,
  });
}

/** A field for a list of rules in JSON. */
export function rulesField(name: string, label: string): ModuleField {
  return moduleField<string>({
    name,
    initialValue: (settings) => JSON.stringify(settings?.[name] ?? [], omitEmpty, 2),
    toInput: (text) => JSON.parse(text || '[]'),
    holdsSecret: mayHoldSecret,
    render: (bound) => (
      <CodeEditor
        {...bound}
        label={label}
        help={`A JSON list of rules, each { name, expressions, actions: [{ type, config }] }. ${SECRETS}`}
        rows={{ min: 5, max: 20 }}
        validate={validateRuleList}
      />
    ),
  });
}

const omitEmpty = (_: string, value: unknown) => (value === null || value === '' ? undefined : value);

function validateRuleList(text: string): string | null {
  try {
    return Array.isArray(JSON.parse(text || '[]')) ? null : 'This must be a list: [ … ].';
  } catch (error) {
    return `This isn’t JSON: ${error instanceof Error ? error.message : error}`;
  }
}

interface PolicyFieldProps extends FieldBinding<string> {
  host: PolicyHost;
  label?: string;
  /** Allows an empty document. */
  isOptional?: boolean;
}

/** The editor of a policy, which the gateway checks while it is typed. */
export function PolicyField({ host, label = 'The document', isOptional, ...field }: PolicyFieldProps) {
  const isHttp = host.proto === 'HTTPS';
  const offered = examples[host.examples];
  const editor = useRef<CodeEditorHandle>(null);
  const id = useId();
  const problems = useProblems(field.value, host);
  const marked = new Set(problems?.flatMap(({ line }) => line ?? []));
  return (
    <div class="policy">
      <div class="policy-example">
        <label for={id}>Begin with an example</label>
        <select
          id={id}
          value=""
          onChange={(event) => {
            const { value } = event.currentTarget;
            event.currentTarget.value = '';
            const example = offered.find(({ title }) => title === value);
            if (example)
              field.onChange(field.value.trim() === '' ? example.text : `${field.value.trimEnd()}\n${example.text}`);
          }}
        >
          <option value="">Choose one …</option>
          {offered.map(({ title }) => (
            <option key={title} value={title}>
              {title}
            </option>
          ))}
        </select>
      </div>
      <CodeEditor
        {...field}
        handle={editor}
        marked={marked}
        label={label}
        help={
          isHttp
            ? `YAML or JSON, with the phases on_http_request and on_http_response. ${SECRETS}`
            : `YAML or JSON, with the phase on_tcp_connect. ${SECRETS}`
        }
        validate={(text) =>
          (isOptional ? null : required('A document')(text)) ??
          (problems?.length ? 'It can’t be used yet: see below what is wrong.' : null)
        }
      />
      <ProblemList problems={problems} goTo={(line) => editor.current?.goTo(line)} />
    </div>
  );
}
