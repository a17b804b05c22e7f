// The field for the provider of webhooks.

import { useId } from 'preact/hooks';
import { Field } from '../../../ui/forms/field.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { allOf, required } from '../../../ui/forms/validators.ts';
import { type ModuleField, moduleField } from './field-kinds.tsx';

/** The providers that the description of the input lists. */
const PROVIDERS = `
  aftership airship alchemy autodesk bitbucket bolt box brex
  buildkite calendly castle chargify circleci clearbit clerk coinbase
  contentful discord docusign dropbox dwolla facebook_graph_api facebook_messenger frameio
  github gitlab gocardless graphcms heroku hubspot instagram intercom
  jira launch_darkly lemon_squeezy line linear mailchimp mailgun microsoft_teams
  modern_treasury mux notion openai orb paddle pagerduty paystack
  pinwheel pusher quickbooks razorpay resend sendgrid sentry shopify
  slack sns sonatype square standard_webhooks stripe svix terraform tiktok
  trello twilio twitter typeform vercel webex whatsapp woocommerce
  workos worldline xero zendesk zoom`
  .trim()
  .split(/\s+/);

function validateProvider(name: string): string | null {
  return PROVIDERS.includes(name.trim()) ? null : 'There is no such provider; choose one of the list.';
}

export function webhookProviderField(name: string): ModuleField {
  return moduleField<string>({
    name,
    initialValue: (settings) => String(settings?.[name] ?? ''),
    toInput: (value) => value.trim(),
    render: (bound) => <ProviderField {...bound} />,
  });
}

function ProviderField(field: FieldBinding<string>) {
  const id = useId();
  return (
    <Field
      {...field}
      label="Provider"
      help="Who sends the webhooks, as github."
      validate={allOf(required('The provider'), validateProvider)}
    >
      {(control) => (
        <>
          <input
            {...control}
            type="text"
            list={id}
            value={field.value}
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            onInput={(event) => field.onChange(event.currentTarget.value)}
          />
          <datalist id={id}>
            {PROVIDERS.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
