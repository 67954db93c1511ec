"""The modal form of fields: whitened increments of low spatial modes."""

from exactsindy.forms.modal.modal_form import ModalForm as ModalForm
from exactsindy.forms.modal.modal_form import smooth_field as smooth_field
from exactsindy.forms.modal.modal_form import smooth_field_guided as smooth_field_guided
from exactsindy.forms.modal.modal_library import ModalLibrary as ModalLibrary
from exactsindy.forms.modal.mode_smoothing import SmoothedField as SmoothedField
from exactsindy.forms.modal.windowed_field import WindowedField as WindowedField
