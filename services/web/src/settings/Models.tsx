import { Button, Input, Label, TextField } from 'react-aria-components';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import own from './settings.module.css';

type RoleModel = Schemas['RoleModel'];
export const OPERATOR = 'operator';

interface Props {
  label: string;
  models: readonly RoleModel[];
  most: number;
  /** The names of the workspace's providers, in addition to the operator's. */
  providers: readonly string[];
  onChange: (models: RoleModel[]) => void;
}

/** Models in the order in which they are tried when one fails. */
export function Models({ label, models, most, providers, onChange }: Props) {
  const options = [{ value: OPERATOR, name: t('theOperator') }, ...providers.map((value) => ({ value, name: value }))];
  const change = (at: number, values: Partial<RoleModel>) =>
    onChange(models.map((model, index) => (index === at ? { ...model, ...values } : model)));
  return (
    <fieldset className={own.models} aria-label={label}>
      {models.map(({ provider, model }, index) => (
        <div key={index} className={own.model}>
          <Choice
            label={t('provider')}
            value={provider}
            options={
              options.some(({ value }) => value === provider)
                ? options
                : [...options, { value: provider, name: provider }]
            }
            onChange={(value) => change(index, { provider: value })}
          />
          <TextField
            className={style.grow!}
            value={model}
            maxLength={200}
            onChange={(value) => change(index, { model: value })}
          >
            <Label>{t('model')}</Label>
            <Input />
          </TextField>
          <Button
            onPress={() => onChange(models.filter((_, at) => at !== index))}
            aria-label={`${t('remove')}: ${model || t('model')}`}
          >
            {t('remove')}
          </Button>
        </div>
      ))}
      {models.length < most && (
        <Button
          onPress={() => onChange([...models, { provider: providers[0] ?? OPERATOR, model: '' }])}
          aria-label={`${t('addModel')}: ${label}`}
        >
          {t('addModel')}
        </Button>
      )}
    </fieldset>
  );
}
